import type { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { parsePlainHead } from './parse-plain-head.ts'
import { PlainRequest } from './plain-request.ts'

it('leaves its connection open for reading when its reader pauses in the last read of its body', () => {
  let isPaused = false
  const socket = { pause: () => (isPaused = true), resume: () => (isPaused = false) } as unknown as Socket
  const head = parsePlainHead(Buffer.from('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'), 1000)
  if (head === undefined) throw new Error('unreachable')
  const req = new PlainRequest(head, socket)
  let hasEnded = false
  req.push(Buffer.from('1\r\na\r\n'))
  req.read()
  req.on('data', () => req.pause())
  req.once('end', () => (hasEnded = true))
  req.push(Buffer.from('1\r\nb\r\n0\r\n\r\n'))
  expect({ isPaused, hasEnded }).toEqual({ isPaused: false, hasEnded: false })
  req.resume()
  expect(hasEnded).toBe(true)
})
