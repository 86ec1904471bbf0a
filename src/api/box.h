/*
 * api/box.h - what the system says of this process and its machine
 * (internal to api). Any thread; a few reads of /proc.
 */
#ifndef API_BOX_H
#define API_BOX_H

#include <stdint.h>

struct box { /* bytes; -1: the system does not say */
    int64_t resident;  /* of this process */
    int64_t available; /* of the machine, without swapping */
};

void box_look(struct box *b);

#endif
