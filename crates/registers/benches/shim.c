// Preloaded before `mmc`, which reads devices only: answers its ioctl for EXT_CSD (MMC_IOC_CMD, command 8) from the file that
// FLASHSCOPE_EXT_CSD names. Every other ioctl is refused.
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/major.h>
#include <linux/mmc/ioctl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int ioctl(int fd, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    struct mmc_ioc_cmd *command = va_arg(rest, struct mmc_ioc_cmd *);
    va_end(rest);
    (void)fd;
    if (request != MMC_IOC_CMD || command->opcode != 8) {
        errno = ENOTTY;
        return -1;
    }
    const char *name = getenv("FLASHSCOPE_EXT_CSD");
    int file = name ? open(name, O_RDONLY) : -1;
    ssize_t size = file < 0 ? -1 : read(file, (void *)(uintptr_t)command->data_ptr, 512);
    if (file >= 0) close(file);
    return size == 512 ? 0 : -1;
}
