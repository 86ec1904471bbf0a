package Pen::Grammar;
# penstock grammar, asked by tests.
#
#   my $r = grammar(schema => {...} | 'JSON', accepts => 'TEXT', @options);
#   my $r = grammar(regex => 'a+', accepts => 'aa');    # choice, json_object
#   $r->{status} $r->{out} $r->{err}; with --json also $r->{json}
#
# TEXT goes over standard input, so that it may be long and hold any byte.
use strict;
use warnings;
use Exporter 'import';
use File::Temp qw(tempdir);
use JSON::PP ();
use Test::More ();

our @EXPORT = qw(grammar need_penstock);
my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $dir;

sub bin { return ($ENV{BUILD} // 'build') . '/penstock' }

sub need_penstock {
    Test::More::plan(skip_all => 'no penstock: make first') unless -x bin();
    return;
}

sub file {
    my ($name, $bytes) = @_;
    $dir //= tempdir('pgram-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    open my $out, '>:raw', "$dir/$name" or die "$dir/$name: $!";
    print $out $bytes // ();
    close $out;
    return "$dir/$name";
}

sub slurp {
    open my $in, '<:raw', $_[0] or die "$_[0]: $!";
    local $/;
    return <$in> // '';
}

# `limit`: KiB of address space.
sub grammar {
    my ($kind, $value, %o) = @_;
    my @more = @{ $o{options} // [] };
    my @of = $kind eq 'json_object' ? '--json-object'
        : $kind eq 'schema' ? ('--schema', file('schema',
            ref $value ? $json->encode($value) : $value))
        : ("--$kind", $value);
    my $in = file('text', $o{accepts});
    my ($out, $err) = map { file($_) } qw(out err);
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDIN, '<', $in or die;
        open STDOUT, '>', $out or die;
        open STDERR, '>', $err or die;
        my @limit = $o{limit} ? ('sh', '-c',
            "ulimit -v $o{limit}; exec \"\$@\"", 'sh') : ();
        exec @limit, bin(), 'grammar', @of, '--accepts', '-', @more;
    }
    waitpid $pid, 0;
    my $r = { out => slurp($out), err => slurp($err),
        status => $? & 127 ? 128 + ($? & 127) : $? >> 8 };
    $r->{json} = eval { $json->decode($r->{out}) } if "@more" =~ /--json/;
    return $r;
}

1;
