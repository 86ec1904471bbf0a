/*
 * fcgi/out.h - libfcgi as a record layer: one request on an open descriptor.
 *
 * The only user of fields that fcgiapp.h calls private (configure checks
 * that they exist). Measured rules behind it (libfcgi 2.4.2 to 2.4.7):
 *   - FCGX_Accept_r on a descriptor that we accepted: ipcFd set,
 *     keepConnection = 1 (else it closes the descriptor before reading) and
 *     listen_sock = -1 (so that it can never wait in accept).
 *   - Detached, so that a failed read closes at once and does not wait two
 *     seconds for the peer.
 *   - Only FCGX_FFlush tells whether bytes left; FCGX_PutStr always succeeds.
 *   - Never O_NONBLOCK: libfcgi takes EAGAIN for an end, in mid-record.
 *   - FCGX_FClose(err) before FCGX_FClose(out) saves a write.
 * Threads: one at a time.
 */
#ifndef FCGI_OUT_H
#define FCGI_OUT_H

#include "base/err.h"
#include <fcgiapp.h>

struct out {
    FCGX_Request r;
    bool open;
    bool failed; /* a write failed: the peer is gone */
};

/* Once, before any thread, after our own signal dispositions. */
void out_library_init(void);

/*
 * Read BEGIN and the parameters of the next request on `fd` (blocking).
 * On failure libfcgi has closed `fd`, and nothing needs releasing.
 */
enum st out_open(struct out *o, int fd, struct err *e) MUST_CHECK;
/* "NAME=value" strings, NULL at the end; valid until out_finish/out_drop. */
const char *const *out_params(const struct out *o);
/* Up to n bytes of the request body, 0 at its end or when the peer failed. */
size_t out_read(struct out *o, char *p, size_t n);
/* Did the body end with its closing record? */
bool out_read_ok(const struct out *o);

/* Write and flush. Blocks only when the caller has not seen POLLOUT; false
 * once the peer is gone. At most OUT_PIECE bytes keep that promise. */
#define OUT_PIECE (32u * 1024)
bool out_put(struct out *o, const char *p, size_t n);
/* Is the socket ready to take OUT_PIECE bytes without blocking? */
bool out_ready(int fd);

/* END_REQUEST. True when the connection may be kept. Frees everything but
 * the descriptor. */
bool out_finish(struct out *o);
/* The same without a word to the peer. */
void out_drop(struct out *o);

#endif
