# Makes the images that deploy/image/Dockerfile begins with from Debian's packages, so that no registry of images is
# needed. Sourced by deploy/bin/check-image, in the root of the repository; buildah keeps everything below .build/image.
#
# The builder is Debian with the toolchain of this machine mounted at /opt/swift, instead of swift:6.3-bookworm: the
# same compiler, which others have packed. SUITE names the release of Debian of both, bookworm if nothing else is said.
SUITE=${SUITE:-bookworm}
export CONTAINERS_STORAGE_CONF=$PWD/.build/image/storage.conf BUILDAH_ISOLATION=chroot
readonly BASE=docker.io/library/debian:$SUITE-slim BUILDER=localhost/swift:$SUITE

make_base_images() {
    local container
    mkdir -p .build/image
    printf '[storage]\ndriver = "vfs"\ngraphroot = "%s/.build/image/store"\nrunroot = "%s/.build/image/run"\n' \
        "$PWD" "$PWD" >"$CONTAINERS_STORAGE_CONF"
    if [ ! -s ".build/image/$SUITE.tar" ]; then
        echo "making the base image from Debian's packages"
        deploy/bin/make-debian --include ca-certificates "$SUITE" ".build/image/$SUITE.tar"
    fi
    if ! buildah inspect --type image "$BASE" >/dev/null 2>&1; then
        container=$(buildah from scratch)
        buildah add --quiet "$container" ".build/image/$SUITE.tar" / >/dev/null
        buildah commit --quiet --rm --format docker "$container" "$BASE" >/dev/null
    fi
    if ! buildah inspect --type image "$BUILDER" >/dev/null 2>&1; then
        container=$(buildah from --pull-never "$BASE")
        buildah config --env PATH=/opt/swift/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
        buildah commit --quiet --rm --format docker "$container" "$BUILDER" >/dev/null
    fi
}
