module example.com/repeat

go 1.19
