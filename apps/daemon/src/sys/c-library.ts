/**
 * Access to functions of the C library that Node does not offer. The foreign-function library takes longer to load than the rest of the
 * daemon, so it loads on demand: callers of a function must first await `loadCLibrary` once. A failed load is tried again.
 */
import { arch } from 'node:process'
import { loadOnce } from '@sandyard/kit/async/load-once'
import type Koffi from 'koffi'
import type { LibraryHandle } from 'koffi'
import { systemError } from './errno-text.ts'

/** System call numbers, which differ by processor (linux: `unistd_64.h`, `asm-generic/unistd.h`). */
const NUMBERS = {
  x64: {
    exit: 60,
    getgroups: 115,
    setgroups: 116,
    setresuid: 117,
    getresuid: 118,
    setresgid: 119,
    getresgid: 120,
    ioprio_set: 251,
    prlimit64: 302,
    openat2: 437,
  },
  arm64: {
    exit: 93,
    getgroups: 158,
    setgroups: 159,
    setresuid: 147,
    getresuid: 148,
    setresgid: 149,
    getresgid: 150,
    ioprio_set: 30,
    prlimit64: 261,
    openat2: 437,
  },
} as const
type SystemCall = keyof typeof NUMBERS.x64

interface CLibrary {
  readonly koffi: typeof Koffi
  readonly symbols: LibraryHandle
}
type KoffiFunction = ReturnType<LibraryHandle['func']>

let library: CLibrary | undefined

/** Loads the foreign-function library, once. */
export const loadCLibrary = loadOnce(async () => {
  const { default: koffi } = await import('koffi')
  // Null means the C library that Node has loaded. A lookup by name could find that of the sandbox's image.
  library = { koffi, symbols: koffi.load(null) }
})

/** A function that runs on the calling thread, by its C prototype. It is looked up when it is first called. */
export function cFunction<A extends readonly unknown[], R = number>(prototype: string): (...args: A) => R {
  let native: KoffiFunction | undefined
  return (...args) => {
    native ??= loaded().symbols.func(prototype)
    return native(...args) as R
  }
}

/** Buffers that functions on the thread pool use. */
const inUse = new Set<readonly unknown[]>()

/** A function that runs on the thread pool. Its promise is rejected with the system error if it returns a negative number. */
export function asyncCFunction(prototype: string): (...args: readonly unknown[]) => Promise<number> {
  let native: KoffiFunction | undefined
  return (...args) =>
    new Promise((resolve, reject) => {
      const { koffi, symbols } = loaded()
      const called = (native ??= symbols.func(prototype))
      inUse.add(args)
      called.async(...args, (error: Error | null, result: number) => {
        inUse.delete(args)
        if (error !== null) reject(error)
        // During this callback koffi returns the errno of the worker thread.
        else if (result < 0) reject(systemError(called.info.name, koffi.errno()))
        else resolve(result)
      })
    })
}

/** The error number of the latest call on this thread. */
export function lastErrno(): number {
  return loaded().koffi.errno()
}

/** For functions that return a negative number on failure. @throws the system error */
export function checkCall(name: string, result: number): number {
  if (result < 0) throw systemError(name, lastErrno())
  return result
}

/** For functions that return the error number. @throws the system error */
export function checkErrno(name: string, errno: number): void {
  if (errno !== 0) throw systemError(name, errno)
}

/** @throws Error on other processors than x64 and arm64 */
export function systemCallNumber(call: SystemCall): number {
  if (arch !== 'x64' && arch !== 'arm64') throw new Error(`the daemon does not know the system calls of ${arch}`)
  return NUMBERS[arch][call]
}

/** Adds a NUL byte to a buffer. The foreign-function library does that for strings only. */
export function toCString(text: string | Buffer): string | Buffer {
  return typeof text === 'string' ? text : Buffer.concat([text, Buffer.of(0)])
}

function loaded(): CLibrary {
  if (library === undefined) throw new Error('the C library is not loaded')
  return library
}
