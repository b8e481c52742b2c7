/** Tells whether a read of a file would wait for a disk. Overlay file systems do not support reads that fail instead (`RWF_NOWAIT`). */
import { cFunction } from './c-library.ts'

const PAGE_BYTES = 4096
const MOST_BYTES = 64 * 1024
const [PROT_READ, MAP_SHARED] = [1, 1]

const map = cFunction<[0, number, number, number, number, 0]>(
  'intptr_t mmap(uintptr_t address, size_t bytes, int protection, int flags, int fd, long offset)',
)
const unmap = cFunction<[number, number]>('int munmap(uintptr_t address, size_t bytes)')
const findPages = cFunction<[number, number, Buffer]>('int mincore(uintptr_t address, size_t bytes, uint8_t *pages)')

/** A byte for each page; bit 0 is set if it is in memory. */
const pages = Buffer.alloc(MOST_BYTES / PAGE_BYTES)

/**
 * Whether the first bytes of an open file are in memory; false for more than 64 KiB, and for a file that cannot be mapped. The C library must
 * be loaded. Larger pages of other processors only make the answer false.
 */
export function isContentCached(fd: number, bytes: number): boolean {
  if (bytes === 0 || bytes > MOST_BYTES) return false
  const address = map(0, bytes, PROT_READ, MAP_SHARED, fd, 0)
  if (address < 0) return false
  try {
    const needed = pages.subarray(0, Math.ceil(bytes / PAGE_BYTES)).fill(0)
    return findPages(address, bytes, needed) === 0 && needed.every((page) => (page & 1) === 1)
  } finally {
    unmap(address, bytes)
  }
}
