//! What `bench iozone -h` prints.

pub(super) const TEXT: &str = "\
flashscope bench iozone: iozone's tests, by iozone's own command line

  flashscope bench iozone -a
  flashscope bench iozone -Rab out.xlsx -g 4g -f /mnt/card/file --html out.html
  flashscope bench iozone -i 0 -i 1 -s 64m -r 128k -I -f /mnt/card/file
  flashscope bench iozone -t 4 -s 256m -r 1m -i 0 -i 2

What is measured (sizes are KiB, or with k, m, g)
  -a              automatic: files of 64 KiB to 512 MiB by records of 4 KiB to
                  16 MiB, every test
  -A              the same with every record size, tests 0 and 1
  -s # -r #       these file and record sizes; may be repeated
  -n # -g #       smallest and largest file of -a
  -y # -q #       smallest and largest record of -a
  -z              small records in large files, too
  -i #            0 write/rewrite  1 read/re-read  2 random read/write
                  3 backward read  4 re-write-record  5 stride read  6 fwrite
                  7 fread  8 random mix  9 pwrite  10 pread  11 pwritev
                  12 preadv
  -E              tests 8 to 12 as well, where no -i is given
  -j #            stride of test 5, in records
  -+p #           percentage of reads of test 8
  -+n             nothing is done twice
  -t #            this number of workers at once (threads), each with a file
                  of its own
  -l # -u #       from -l to -u workers
  -C  -x          what each worker moved; workers go on when the first is done
How
  -f FILE         the file, or the directory for it
  -F FILE...      one file per worker
  -I              past the page cache (O_DIRECT)
  -o              O_SYNC  (-+D O_DSYNC, -+r O_RSYNC)
  -e  -c          flush, close inside the timing
  -B              memory map
  -H # -k #       POSIX asynchronous I/O of this many at once, with a copy or
                  without
  -p  -S #        go through the processor's cache before each pass, of # KiB
  -P #            keep workers on processors from this one on
  -w              leave the file there
What is shown
  -R              iozone's report after the table
  -b FILE         workbook (XLSX), one sheet per figure
  -O  -N          operations per second, microseconds per operation
Taken for what they are here anyway: -T (threads), -M (kernel), -L (cache line)
Our own
  --html FILE     page with surfaces
  --csv FILE      every pass as a line
  --output FILE   record; --json prints it on stdout
  --cold          drop the file from the page cache before each pass
  --allow-write   a file that is there already may be emptied and written to
  --destroy-signatures
                  even where it holds data that flashscope did not write
  --force         results may replace files that flashscope did not write, and
                  records of another target
  --max-write SIZE  --seed N  --dry-run  --schema

Any other option is an error that names it.
";
