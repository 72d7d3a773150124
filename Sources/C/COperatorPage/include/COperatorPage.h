#pragma once

#include <stddef.h>

// One file of the operator's page, as it is in the folder `web`.
struct apus_page_asset {
    // The last part of its path.
    const char *name;
    // Its media type.
    const char *type;
    const unsigned char *bytes;
    size_t count;
};

// How many files there are; the first is the page itself.
size_t apus_page_asset_count(void);

const struct apus_page_asset *apus_page_asset_at(size_t index);
