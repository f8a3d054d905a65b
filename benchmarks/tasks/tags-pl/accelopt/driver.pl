# SPDX-License-Identifier: Apache-2.0
# Calls the function on every case, a line each; writes what it gave.
use strict;
use warnings;
use Tags;

open my $in, "<", $ARGV[0] or die;
open my $out, ">", $ARGV[1] or die;
while (my $line = <$in>) {
    chomp $line;
    print $out join(" ", map { "$_->[0]=$_->[1]" } Tags::counted(split / /, $line)), "\n";
}
close $out or die;
