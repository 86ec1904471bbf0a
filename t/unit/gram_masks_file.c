/*
 * gram_masks_file IDS GRAMMARS PLACES [deep] - a tool of t/1120: masks of
 * random places of each grammar against walking every id; deep: of texts that
 * nest as far as they can.
 *
 * IDS as in t/lib/gramfile.h; GRAMMARS: lines NAME<tab>FORM<tab>TEXT. Prints
 * NAME PLACES IDS WRONG EMPTY DEEPEST for each (struct maskcheck_sum).
 */
#include "base/num.h"
#include "t/lib/gramfile.h"
#include "t/lib/maskcheck.h"

static bool check_line(struct maskcheck *c, char *line, size_t places)
{
    char *form = strchr(line, '\t'), *of = form ? strchr(form + 1, '\t') : NULL;
    struct maskcheck_sum sum = {0};
    struct grammar *g;
    struct err e;

    if (!of)
        return false;
    *form++ = 0;
    *of++ = 0;
    g = gram_from_form(form, (struct text){of, strcspn(of, "\n")}, &e);
    if (!g) {
        printf("%s refused: %s\n", line, e.text);
        return false;
    }
    maskcheck_walk(c, g, places, &sum);
    printf("%s %zu %zu %zu %zu %zu\n", line, sum.places, sum.ids, sum.wrong,
           sum.empty, sum.deepest);
    fflush(stdout);
    gram_unref(g);
    return true;
}

int main(int argc, char **argv)
{
    struct maskcheck c = {.random = 20240607};
    struct gram_vocab *v;
    struct idfile ids;
    int64_t places;
    char line[16384];
    bool good = true;
    FILE *in;

    c.deep = argc == 5 && strcmp(argv[4], "deep") == 0;
    if (argc != 4 + c.deep ||
        !num_parse_i64(argv[3], strlen(argv[3]), 1, 100000, &places))
        return 2;
    idfile_read(&ids, argv[1], 0);
    in = fopen(argv[2], "r");
    if (!in || gram_vocab_new(&v, ids.pieces, ids.n, NULL))
        return 2;
    c.vocab = v;
    c.pieces = ids.pieces;
    c.n = ids.n;
    c.pool = gram_pool_new(v);
    if (!c.pool)
        return 2;
    while (fgets(line, sizeof(line), in)) {
        if (line[0] != '#')
            good = check_line(&c, line, (size_t)places) && good;
    }
    fclose(in);
    gram_pool_free(c.pool);
    gram_vocab_free(v);
    idfile_release(&ids);
    return good ? 0 : 1;
}
