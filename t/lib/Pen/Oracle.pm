# Pen::Oracle: llama.cpp (node-llama-cpp, its prebuilt CPU library) and
# penstock continue the same ids greedily. All ids agree, or the first that
# differs stands where llama.cpp saw the best two less than 0.05 nats apart:
# there another rounding may rightly choose the other.
package Pen::Oracle;
use strict;
use warnings;
use Exporter 'import';
use File::Temp 'tempdir';
use JSON::PP;
use Pen::Gguf 'gguf_check';
use Test::More;

our @EXPORT_OK = qw(oracle_missing oracle_dir oracle_make oracle_compare);

my $penstock = ($ENV{BUILD} // 'build') . '/penstock';
my $node     = 't/js/node_modules/.bin/node';
my $near     = 0.05;
my $dir;

# Why nothing can be compared here, or ''.
sub oracle_missing {
    return 'node-llama-cpp is not installed in t/js'
        unless -x $node && -d 't/js/node_modules/node-llama-cpp';
    return 'this penstock has no command run'
        unless -x $penstock && `$penstock --help` =~ /^ +run\b/m;
    return '';
}

# A folder for models, gone at the end.
sub oracle_dir { return $dir //= tempdir(CLEANUP => 1) }

# NAME.gguf in that folder by contrib/mkmodel; returns its path.
sub oracle_make {
    my ($name, @options) = @_;
    my $path = oracle_dir() . "/$name.gguf";
    local $ENV{NODE} = $node;
    my ($status, $out, $err) = gguf_check('contrib/mkmodel', @options, '-o',
        $path);
    die "mkmodel @options: $err" if $status;
    return $path;
}

sub ours {
    my ($job, $prompt) = @_;
    my ($status, $text, $why) = gguf_check($penstock, 'run', '-m',
        $job->{ours} // $job->{model}, '--ids', join(',', @$prompt), '-n', $job->{n},
        '--temp', 0, '--json');
    return ($status, $why, $status ? () : @{decode_json($text)->{ids}});
}

# jobs: { model => FILE, n => N, prompts => [[id, ...], ...] }, and ours =>
# FILE where penstock is to read another one. One test each prompt; returns
# our ids as text: { MODEL NAME => "of the last prompt" }.
sub oracle_compare {
    my (@jobs) = @_;
    my $file = oracle_dir() . '/request.json';
    open my $request, '>', $file or die "$file: $!\n";
    print {$request} encode_json(\@jobs);
    close $request or die $!;
    my ($status, $out, $err) = gguf_check('/bin/sh', '-c',
        "exec $node t/js/oracle-llama-cpp.mjs <$file");
    is $status, 0, 'the oracle answers' or BAIL_OUT($err);
    my $answers = decode_json($out);
    my %said;

    for my $i (0 .. $#jobs) {
        my $job = $jobs[$i];
        my ($name) = $job->{model} =~ m{([^/]+)\.gguf$};
        for my $j (0 .. $#{$job->{prompts}}) {
            my ($st, $why, @ours) = ours($job, $job->{prompts}[$j]);
            my @want = @{$answers->[$i][$j]{ids}};
            my $gaps = $answers->[$i][$j]{gaps};
            my $same = 0;

            $said{$name} = "@ours";
            $same++ while $same < @want && $same < @ours
                && $ours[$same] == $want[$same];
            # A text that ends may or may not list the token that ended it.
            my $whole = $same == @want || $same == @ours
                && $same == @want - 1 && @want < $job->{n};
            ok $st == 0 && ($whole || $gaps->[$same] < $near),
                "$name, prompt $j: " . ($whole ? 'all ' . @want . ' agree'
                    : "first differs at $same, gap $gaps->[$same]")
                or diag "status $st $why\nours @ours\nllama.cpp @want";
        }
    }
    return \%said;
}

1;
