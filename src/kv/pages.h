/*
 * kv/pages.h - which KV pages are free, and who shares the others.
 *
 * A page is KV_PAGE positions of all layers; the bytes live in a backend's
 * buffers, here are only numbers. Reference-counted, so that a prefix tree
 * can share pages between sequences. Engine thread only; nothing locks.
 */
#ifndef KV_PAGES_H
#define KV_PAGES_H

#include "base/err.h"

struct kv_pages; /* opaque */

/* n pages of page_bytes each. NULL when out of memory. */
struct kv_pages *kv_pages_new(size_t n, size_t page_bytes) MUST_CHECK;
void kv_pages_free(struct kv_pages *p);

/* A free page with one reference, or -1. Lowest number first. */
int32_t kv_pages_take(struct kv_pages *p) MUST_CHECK;
/* This one, which is free. */
void kv_pages_take_this(struct kv_pages *p, int32_t page);
void kv_pages_ref(struct kv_pages *p, int32_t page);
void kv_pages_unref(struct kv_pages *p, int32_t page);

uint32_t kv_pages_refs(const struct kv_pages *p, int32_t page);

/* The prefix tree's reference, at most one a page: the same as ref and unref,
 * and counted apart, so that who looks knows what only the tree holds. */
void kv_pages_hold(struct kv_pages *p, int32_t page);
void kv_pages_let(struct kv_pages *p, int32_t page);

size_t kv_pages_total(const struct kv_pages *p);
size_t kv_pages_used(const struct kv_pages *p);
size_t kv_pages_left(const struct kv_pages *p); /* total without used */
size_t kv_pages_idle(const struct kv_pages *p); /* used by the tree alone */
size_t kv_pages_bytes(const struct kv_pages *p); /* of the used ones */

#endif
