/**
 * Runs functions of the C library one after another on a thread without JavaScript. In the kernel each thread has its own identity, and only
 * that of the first thread decides who may signal the process: work with another identity exposes the daemon only to a process that guesses
 * the id of this thread while it exists.
 */
import { constants } from 'node:os'
import { type Address, addressesIn, type Arena, type Piece } from './arena.ts'
import { cFunction, checkErrno, systemCallNumber } from './c-library.ts'

declare const inLibrary: unique symbol

/** The address of a function of the C library. */
export type FunctionAddress = number & { readonly [inLibrary]: true }

/** An argument: an address in the arena of the thread, or an explicit integer. A plain number is not accepted. */
export type NativeValue = Address | { readonly integer: number }

/** A function with at most six arguments. */
export interface NativeCall {
  readonly function: FunctionAddress
  readonly values: readonly NativeValue[]
}

const MOST_VALUES = 6
/** Enough for `ucontext_t` of glibc: 968 bytes on x64 and 4,560 on arm64. */
const CONTEXT_BYTES = 4608
const STACK_BYTES = 48 * 1024
/** Offsets in `ucontext_t` of its successor and of the address and size of its stack (glibc, the same on all 64-bit processors). */
const [LINK_AT, STACK_AT, STACK_SIZE_AT] = [8, 16, 32]
const SIGNAL_SET_BYTES = 128
const SIG_SETMASK = 2
const CLOCK_MONOTONIC = 1
const TIMESPEC_BYTES = 16

const ARGUMENTS = Array.from({ length: MOST_VALUES }, (_, index) => `uintptr_t value${index}`).join(', ')
const dlsym = cFunction<[handle: 0, name: string]>('uintptr_t dlsym(uintptr_t handle, const char *name)')
const setSignalMask = cFunction<[how: number, set: Address, old: Address]>('int pthread_sigmask(int how, uintptr_t set, uintptr_t old)')
const createThread = cFunction<[thread: Address, attributes: 0, start: FunctionAddress, argument: Address]>(
  'int pthread_create(uintptr_t thread, uintptr_t attributes, uintptr_t start, uintptr_t argument)',
)
const joinThread = cFunction<[thread: bigint, result: 0]>('int pthread_join(uintptr_t thread, uintptr_t result)')
const joinThreadUntil = cFunction<[thread: bigint, result: 0, clock: number, until: Address]>(
  'int pthread_clockjoin_np(uintptr_t thread, uintptr_t result, int clock, uintptr_t until)',
)
const getContext = cFunction<[context: Address]>('int getcontext(uintptr_t context)')
const makeContext = cFunction<[context: Address, start: FunctionAddress, count: number, ...values: number[]], void>(
  `void makecontext(uintptr_t context, uintptr_t start, int count, ${ARGUMENTS})`,
)

/** @throws Error if the C library lacks the function, as musl lacks contexts. The distribution contains glibc. */
export function findFunction(name: string): FunctionAddress {
  const address = dlsym(0, name)
  if (address === 0) throw new Error(`the C library has no ${name}: processes need glibc 2.34 or later`)
  return address as FunctionAddress
}

const functions = new Map<string, FunctionAddress>()

/** A call of a function of the C library. */
export function libraryCall(name: string, values: NativeCall['values']): NativeCall {
  const address = functions.get(name) ?? findFunction(name)
  functions.set(name, address)
  return { function: address, values }
}

/** The C library's functions of these names change every thread of a process, system calls only their own. */
export function systemCall(name: Parameters<typeof systemCallNumber>[0], values: NativeCall['values']): NativeCall {
  return libraryCall('syscall', [{ integer: systemCallNumber(name) }, ...values])
}

/** The bytes that a thread with this many calls takes in an arena. */
export function threadBytes(calls: number): number {
  return calls * (CONTEXT_BYTES + STACK_BYTES) + 3 * SIGNAL_SET_BYTES + 1024
}

/** One thread at a time, with all its memory in an arena. The arena may be released after the thread has been joined. */
export class NativeThread {
  readonly #arena: Arena
  readonly #contexts: readonly Address[]
  readonly #start: FunctionAddress
  readonly #handle: Piece
  readonly #until: Piece
  #isAlive = false

  constructor(arena: Arena, mostCalls: number) {
    this.#arena = arena
    this.#start = findFunction('setcontext')
    this.#handle = arena.take(8)
    this.#until = arena.take(TIMESPEC_BYTES)
    this.#contexts = createContexts(arena, mostCalls)
  }

  /** True from `start` until a join has succeeded. The arena must not be released meanwhile. */
  get isAlive(): boolean {
    return this.#isAlive
  }

  /**
   * Starts a thread that makes `calls` in order and ignores their results. The last call must end the thread. The thread handles no signals.
   *
   * @throws the system error if no thread can be created
   * @throws RangeError for an address outside the arena
   */
  start(calls: readonly NativeCall[]): void {
    if (this.#isAlive || calls.length > this.#contexts.length) throw new RangeError('a thread with too many calls, or still alive')
    // The calls use the last contexts: each context continues with the next one, and the last one has no successor.
    const contexts = this.#contexts.slice(-calls.length)
    const [first] = contexts
    if (first === undefined) throw new RangeError('a thread without calls')
    for (const [index, { function: start, values }] of calls.entries()) {
      const six = values.map((value) => this.#toRegister(value)).concat(Array<number>(MOST_VALUES - values.length).fill(0))
      makeContext(contexts[index] ?? first, start, MOST_VALUES, ...six)
    }
    checkErrno('pthread_create', createThread(this.#handle.address, 0, this.#start, first))
    this.#isAlive = true
  }

  /** Waits on the calling thread until the thread has ended. */
  join(): void {
    checkErrno('pthread_join', joinThread(this.#thread(), 0))
    this.#isAlive = false
  }

  /** Waits at most `milliseconds`. Returns false if the thread has not ended. */
  joinWithin(milliseconds: number): boolean {
    writeDeadline(this.#until, milliseconds)
    const failure = joinThreadUntil(this.#thread(), 0, CLOCK_MONOTONIC, this.#until.address)
    if (failure === constants.errno.ETIMEDOUT) return false
    checkErrno('pthread_clockjoin_np', failure)
    this.#isAlive = false
    return true
  }

  #thread(): bigint {
    return this.#handle.bytes.readBigUInt64LE()
  }

  #toRegister(value: NativeValue): number {
    if (typeof value !== 'number') return value.integer
    if (!this.#arena.contains(value)) throw new RangeError('an address that the arena of the thread does not own')
    return value
  }
}

/** Writes the time in `milliseconds` from now as a `timespec` of the monotonic clock. */
export function writeDeadline({ bytes }: Piece, milliseconds: number): void {
  const at = process.hrtime.bigint() + BigInt(Math.round(milliseconds * 1e6))
  bytes.writeBigInt64LE(at / 1_000_000_000n, 0)
  bytes.writeBigInt64LE(at % 1_000_000_000n, 8)
}

/** Contexts that block every signal, each with its own stack and linked to the next by makecontext(3). */
function createContexts(arena: Arena, count: number): Address[] {
  const all = arena.take(SIGNAL_SET_BYTES)
  const before = arena.take(SIGNAL_SET_BYTES)
  const memory = arena.take(count * CONTEXT_BYTES)
  const contexts = addressesIn(memory, CONTEXT_BYTES)
  const stacks = addressesIn(arena.takeUninitialized(count * STACK_BYTES), STACK_BYTES)
  all.bytes.fill(0xff)
  setSignalMask(SIG_SETMASK, all.address, before.address)
  try {
    for (const context of contexts) getContext(context)
  } finally {
    setSignalMask(SIG_SETMASK, before.address, before.address)
  }
  for (const index of contexts.keys()) {
    const context = memory.bytes.subarray(index * CONTEXT_BYTES, (index + 1) * CONTEXT_BYTES)
    context.writeBigUInt64LE(BigInt(contexts[index + 1] ?? 0), LINK_AT)
    context.writeBigUInt64LE(BigInt(stacks[index] ?? 0), STACK_AT)
    context.writeBigUInt64LE(BigInt(STACK_BYTES), STACK_SIZE_AT)
  }
  return contexts
}
