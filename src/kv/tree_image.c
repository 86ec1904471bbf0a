#include "kv/tree_int.h"

#include "base/mem.h"

/* The place of this digest, or the empty one where it would be. */
static size_t slot_of(const struct kv_images *im, const uint8_t *digest)
{
    uint64_t h;
    size_t i;

    memcpy(&h, digest, sizeof(h));
    i = (size_t)h & (im->n_slots - 1);
    while (im->slots[i] &&
           memcmp(im->digest[im->slots[i] - 1], digest, 32) != 0)
        i = (i + 1) & (im->n_slots - 1);
    return i;
}

/* Room for one more, half of the slots empty. */
static bool grow(struct kv_images *im)
{
    size_t cap = im->cap ? im->cap * 2 : 16, bytes;
    uint8_t(*digest)[32];
    int32_t *slots;

    if (im->n < im->cap)
        return true;
    if (cap > INT32_MAX / 2 || !mem_mul(&bytes, cap, sizeof(*digest)))
        return false;
    slots = mem_try_array(cap * 2, sizeof(*slots));
    if (!slots)
        return false;
    digest = realloc(im->digest, bytes);
    if (!digest) {
        free(slots);
        return false;
    }
    free(im->slots);
    im->digest = digest;
    im->slots = slots;
    im->n_slots = cap * 2;
    im->cap = cap;
    for (size_t i = 0; i < im->n; i++)
        slots[slot_of(im, digest[i])] = (int32_t)i + 1;
    return true;
}

int32_t kv_tree_image(struct kv_tree *t, const uint8_t digest[32])
{
    struct kv_images *im = &t->images;
    size_t i;

    if (im->n_slots) {
        i = slot_of(im, digest);
        if (im->slots[i])
            return -im->slots[i];
    }
    if (!grow(im))
        return 0;
    memcpy(im->digest[im->n++], digest, 32);
    i = slot_of(im, digest);
    im->slots[i] = (int32_t)im->n;
    return -im->slots[i];
}

const uint8_t *kv_tree_digest(const struct kv_tree *t, int32_t unit)
{
    if (unit >= 0 || (size_t)-(int64_t)unit > t->images.n)
        return NULL;
    return t->images.digest[-(int64_t)unit - 1];
}

void kv_images_release(struct kv_images *im)
{
    free(im->digest);
    free(im->slots);
    *im = (struct kv_images){0};
}
