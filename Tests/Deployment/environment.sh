# Installs the checkers of images and manifests into .build/deployment, once; sets ENVIRONMENT to their folder. Sourced by
# deploy/bin/check-image, check-compose and check-kubernetes, in the root of the repository.
ENVIRONMENT=.build/deployment/environment
wanted=$(python3 --version; sha256sum Tests/Deployment/requirements.txt)
if [ "$(cat .build/deployment/installed 2>/dev/null)" != "$wanted" ]; then
    echo "installing the checkers into .build/deployment"
    rm -rf .build/deployment/environment .build/deployment/installed
    mkdir -p .build/deployment
    python3 -m venv "$ENVIRONMENT"
    "$ENVIRONMENT/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --require-hashes \
        --requirement Tests/Deployment/requirements.txt
    echo "$wanted" >.build/deployment/installed
fi
