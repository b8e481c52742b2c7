import { expect, it } from 'vitest'
import { wholeTar } from './whole-tar.ts'

async function* chunks(...parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* parts
}

async function read(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const found: Buffer[] = []
  for await (const chunk of stream) found.push(chunk)
  return Buffer.concat(found)
}

it('passes a whole archive on, also in small chunks', async () => {
  const body = Buffer.alloc(5000, 'x')
  const whole = Buffer.concat([body, Buffer.alloc(1024)])
  expect((await read(wholeTar(chunks(whole)))).equals(whole)).toBe(true)
  const small = [body, Buffer.alloc(700), Buffer.alloc(300), Buffer.alloc(24)]
  expect((await read(wholeTar(chunks(...small)))).equals(whole)).toBe(true)
})

it('fails for an archive that ends in the failure of the engine, or in nothing', async () => {
  const failure = Buffer.from('{"errorDetail":{"message":"no space left on device"},"error":"no space left on device"}')
  await expect(read(wholeTar(chunks(Buffer.alloc(2048), failure)))).rejects.toThrow('(no space left on device)')
  await expect(read(wholeTar(chunks(Buffer.alloc(5000, 'x'))))).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(read(wholeTar(chunks()))).rejects.toMatchObject({ kind: 'unavailable' })
})
