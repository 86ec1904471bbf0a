/*
 * base/banned.h - calls that do not compile here.
 *
 * Each of these is unbounded, locale-dependent or keeps hidden state. What
 * to use instead: struct buf for text, num_parse_* for numbers, gmtime_r.
 * Included last by base/err.h, so every file of the project sees it.
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__GNUC__) && !defined(__cplusplus)
#pragma GCC poison sprintf vsprintf strcpy strcat strncpy strncat strtok
#pragma GCC poison gets atoi atol atoll atof sscanf localtime gmtime rand
#endif

#endif
