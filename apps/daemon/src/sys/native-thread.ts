/**
 * Runs functions of the C library on a thread that has no JavaScript. Identity belongs to threads in the kernel, and only the first one's
 * decides who may send the process a signal. What is done here with another identity exposes the daemon only to who guesses the thread's number
 * while it lives.
 */
import koffi from 'koffi'
import { systemError } from './errno-text.ts'

/** A function by its address, with at most six integers or addresses. */
export interface NativeCall {
  readonly address: bigint
  readonly values: readonly (number | bigint)[]
}

const MOST_CALLS = 12
const MOST_VALUES = 6
/** More than any processor's: glibc has 968 bytes for x64 and 4,560 for arm64. */
const CONTEXT_BYTES = 8 * 1024
const STACK_BYTES = 64 * 1024
/** Where `ucontext_t` has its successor, and the address and size of its stack (glibc, the same on all 64-bit processors). */
const [LINK_AT, STACK_AT, STACK_SIZE_AT] = [8, 16, 32]
const SIGNAL_SET_BYTES = 128
const SIG_SETMASK = 2

const libc = koffi.load(null)
const native = {
  dlsym: libc.func('uintptr_t dlsym(uintptr_t handle, const char *name)'),
  /** Copies nothing, and says where the buffer is. */
  locate: libc.func('memcpy', 'uintptr_t', ['void *', 'void *', 'size_t']),
  signalMask: libc.func('int pthread_sigmask(int how, const void *set, void *old)'),
  createThread: libc.func('int pthread_create(void *thread, const void *attributes, uintptr_t start, uintptr_t argument)'),
  joinThread: libc.func('int pthread_join(uintptr_t thread, void *result)'),
}

/** The address of a function, undefined where the C library does not have it. */
export function findFunction(name: string): bigint | undefined {
  const address = BigInt(native.dlsym(0, name) as number | bigint)
  return address === 0n ? undefined : address
}

/** Where a buffer's bytes are. They stay there as long as the buffer is reachable. */
export function addressOf(bytes: Uint8Array): bigint {
  return BigInt(native.locate(bytes, bytes, 0) as number | bigint)
}

/**
 * Starts a thread that does `calls` in their order, whatever each returns, and ends. `meanwhile` runs on the calling thread at the same time.
 * One at a time; returns when the thread has ended. No signal is handled on it. The last call has to end the thread.
 *
 * @throws the system error where there can be no more threads
 */
export function runOnThread(calls: readonly NativeCall[], meanwhile: () => void): void {
  const { setcontext, makecontext, contexts } = (machine ??= createMachine())
  if (calls.length > contexts.length) throw new RangeError(`${calls.length} calls are too many`)
  for (const [index, { address, values }] of calls.entries()) {
    const six = [...values, ...Array<number>(MOST_VALUES).fill(0)].slice(0, MOST_VALUES)
    makecontext(contexts[index]?.bytes, address, MOST_VALUES, ...six)
  }
  const thread = Buffer.alloc(8)
  const failure = native.createThread(thread, null, setcontext, contexts[0]?.address ?? 0n) as number
  if (failure !== 0) throw systemError('pthread_create', failure)
  try {
    meanwhile()
  } finally {
    native.joinThread(thread.readBigUInt64LE(), null)
  }
}

/** Whether this C library has what `runOnThread` needs; musl has not. */
export function canRunOnThread(): boolean {
  return findFunction('makecontext') !== undefined
}

let machine: ReturnType<typeof createMachine> | undefined

/** Contexts of which each is followed by the next, as makecontext(3) links them. */
function createMachine() {
  const getcontext = libc.func('int getcontext(void *context)')
  const register = Array.from({ length: MOST_VALUES }, () => 'uintptr_t')
  const makecontext = libc.func('makecontext', 'void', ['void *', 'uintptr_t', 'int', ...register])
  const contexts = Array.from({ length: MOST_CALLS }, () => {
    const [bytes, stack] = [Buffer.alloc(CONTEXT_BYTES), Buffer.allocUnsafeSlow(STACK_BYTES)]
    return { bytes, stack, address: addressOf(bytes) }
  })
  const mask = Buffer.alloc(SIGNAL_SET_BYTES)
  native.signalMask(SIG_SETMASK, Buffer.alloc(SIGNAL_SET_BYTES, 0xff), mask)
  for (const [index, { bytes, stack }] of contexts.entries()) {
    getcontext(bytes)
    bytes.writeBigUInt64LE(contexts[index + 1]?.address ?? 0n, LINK_AT)
    bytes.writeBigUInt64LE(addressOf(stack), STACK_AT)
    bytes.writeBigUInt64LE(BigInt(STACK_BYTES), STACK_SIZE_AT)
  }
  native.signalMask(SIG_SETMASK, mask, null)
  return { setcontext: findFunction('setcontext') ?? 0n, makecontext, contexts }
}
