# embed-file.awk FILE...: text files as one C table, for files that belong
# into the binary. The table ends with an empty row:
#   const struct embedded NAME[] = {{"chatml.json", "text", bytes}, {0}};
# -v name=NAME and -v header=PATH (declares struct embedded and NAME).
BEGIN {
    print "/* Made by build-aux/embed-file.awk; do not edit. */"
    printf "#include \"%s\"\n\nconst struct embedded %s[] = {\n", header, name
}
FNR == 1 {
    if (open)
        finish()
    n = split(FILENAME, part, "/")
    printf "    {\"%s\",\n", part[n]
    open = 1
    bytes = 0
}
{
    bytes += length($0) + 1
    gsub(/\\/, "\\\\&")
    gsub(/"/, "\\\"")
    printf "     \"%s\\n\"\n", $0
}
END {
    if (open)
        finish()
    print "    {0},\n};"
}
function finish() {
    printf "     , %d},\n", bytes
}
