import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { joinSmallPieces } from './join-small-pieces.ts'

function received(): { message: IncomingMessage; pieces: string[] } {
  const message = new IncomingMessage(new Socket())
  joinSmallPieces(message)
  const pieces: string[] = []
  message.on('data', (bytes: Buffer) => pieces.push(bytes.toString('latin1')))
  return { message, pieces }
}

it('joins the small pieces of one read, and keeps their order with large ones and the end', async () => {
  const { message, pieces } = received()
  const large = Buffer.alloc(10_000, 'L')
  for (const piece of [Buffer.from('a'), Buffer.from([0xe4]), large, Buffer.from('b')]) message.push(piece)
  await setImmediate()
  expect(pieces).toEqual(['a\xe4', large.toString(), 'b'])
  message.push(Buffer.from('c'))
  message.push(Buffer.from('d'))
  message.push(null)
  await setImmediate()
  expect(pieces.slice(3)).toEqual(['cd'])
  expect(message.readableEnded).toBe(true)
})

it('asks for a pause when as much waits as without it', async () => {
  const message = new IncomingMessage(new Socket())
  joinSmallPieces(message)
  const piece = Buffer.alloc(1024)
  let pushed = 0
  while (message.push(piece)) pushed += piece.length
  expect(pushed).toBe(message.readableHighWaterMark - piece.length)
  await setImmediate()
  expect(message.push(piece)).toBe(false)
})
