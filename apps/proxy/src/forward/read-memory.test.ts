import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { ReadMemory } from './read-memory.ts'

const MIB = 1024 ** 2
/** Of all blocks above 64 KiB. */
const CAP_BYTES = 64 * MIB
const READS = 10

const connections: Connection[] = []

afterEach(() => {
  for (const connection of connections.splice(0)) connection.close()
})

/** A connection that is read until its memory is as large as it gets. Its bytes are lent until the next read, as to a client that has to read first. */
class Connection {
  readonly memory = new ReadMemory()
  readonly socket = Object.assign(new EventEmitter(), { destroyed: false, isPaused: () => true })
  readonly blocks = new Set<ArrayBufferLike>()
  #block = this.#next()
  #giveBack: (() => void) | undefined

  constructor() {
    this.memory.attach(this.socket as unknown as Socket)
    this.socket.on('data', () => (this.#giveBack = this.memory.lend()))
    connections.push(this)
  }

  get size(): number {
    return this.#block.length
  }

  fill(times: number): void {
    for (let read = 0; read < times; read += 1) {
      this.#giveBack?.()
      this.memory.onread.callback(this.#block.length, this.#block)
      this.#block = this.#next()
      this.blocks.add(this.#block.buffer)
    }
  }

  close(): void {
    this.#giveBack?.()
    this.socket.emit('close')
  }

  #next(): Uint8Array {
    const { buffer } = this.memory.onread
    return typeof buffer === 'function' ? buffer() : buffer
  }
}

it('grows while reads fill it, and keeps the block that it has where no more memory is allowed', () => {
  let used = 0
  let last = new Connection()
  for (last.fill(READS); last.size > 64 * 1024; last.fill(READS)) {
    used += last.size
    last = new Connection()
  }
  expect(used).toBe(CAP_BYTES)
  expect(last.size).toBe(64 * 1024)
  last.blocks.clear()
  last.fill(READS)
  expect(last.blocks.size).toBe(1)
})

it('grows to 512 KiB when others have given back their memory', () => {
  const connection = new Connection()
  connection.fill(READS)
  expect(connection.size).toBe(512 * 1024)
})
