# Compile SQL files in: awk -v part=h|c -f embed-sql.awk FILE...
#
# sql/NNNN_name.sql become the migrations, in the order given; sql/q/NAME.sql
# become statements SQL_NAME. Comment lines of statements stay outside.

function c_line(s)
{
    gsub(/\\/, "\\\\", s)
    gsub(/"/, "\\\"", s)
    return "    \"" s "\\n\"\n"
}

FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.sql$/, "", name)
    is_q = FILENAME ~ /\/q\//
    if (is_q)
        q[++nq] = name
    else
        nm++
}

is_q && !/^--/ { qtext[nq] = qtext[nq] c_line($0) }
!is_q { mtext[nm] = mtext[nm] c_line($0) }

function header(   i)
{
    print "#ifndef DB_SQL_H\n#define DB_SQL_H\n\nenum sql_id {"
    for (i = 1; i <= nq; i++)
        print "    SQL_" toupper(q[i]) ","
    print "    SQL_COUNT\n};\n"
    print "extern const char *const sql_text[SQL_COUNT];"
    print "extern const char *const sql_name[SQL_COUNT];"
    print "#define SQL_MIGRATIONS " nm
    print "extern const char *const sql_migration[SQL_MIGRATIONS];\n\n#endif"
}

function source(   i)
{
    print "#include \"db/sql.h\"\n\nconst char *const sql_text[SQL_COUNT] = {"
    for (i = 1; i <= nq; i++)
        printf "    [SQL_%s] =\n%s,\n", toupper(q[i]), qtext[i]
    print "};\n\nconst char *const sql_name[SQL_COUNT] = {"
    for (i = 1; i <= nq; i++)
        printf "    [SQL_%s] = \"%s\",\n", toupper(q[i]), q[i]
    print "};\n\nconst char *const sql_migration[SQL_MIGRATIONS] = {"
    for (i = 1; i <= nm; i++)
        printf "%s,\n", mtext[i]
    print "};"
}

END {
    print "/* Generated from sql/ by build-aux/embed-sql.awk. */"
    if (part == "h")
        header()
    else
        source()
}
