# SPDX-License-Identifier: Apache-2.0
use strict;
use warnings;
use Tags;

my @found = Tags::counted("b", "a", "b");
my $text = join " ", map { "$_->[0]=$_->[1]" } @found;
print "1..2\n";
print $text eq "b=2 a=1" ? "ok 1 - tags are counted\n" : "not ok 1 - tags are counted\n";
print Tags::counted() == 0 ? "ok 2 - no tags\n" : "not ok 2 - no tags\n";
