import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin } from './support/collect.ts'
import { unary } from './support/raw-rpc.ts'
import { startDaemon, type TestDaemon } from './support/test-daemon.ts'

const MIB = 1024 * 1024
let daemon: TestDaemon

beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

async function refusal(method: string, body: string) {
  const { status, text } = await unary(daemon.url, method, body)
  return [status, JSON.parse(text)]
}

describe('messages that would take the memory of the sandbox', () => {
  it('[filesystem.Filesystem/Stat] has no use for a megabyte, and says how much it takes', async () => {
    const tooLarge = { code: 'resource_exhausted', message: 'message is larger than 1 MiB' }
    expect(await refusal('filesystem.Filesystem/Stat', JSON.stringify({ path: 'a'.repeat(MIB) }))).toEqual([429, tooLarge])
    const [status, { message }] = await refusal('filesystem.Filesystem/Stat', JSON.stringify({ path: `/${'a'.repeat(MIB / 2)}` }))
    expect([status, message.slice(-20)]).toEqual([500, ': file name too long'])
  })

  it('[process.Process/SendInput] takes a long paste, but not any', async () => {
    const { selector, rest } = await begin(daemon, ['/bin/sh', '-c', 'wc -c'])
    const input = (mib: number) => JSON.stringify({ process: { pid: selector.selector.value }, input: { stdin: 'A'.repeat(mib * MIB) } })
    expect((await unary(daemon.url, 'process.Process/SendInput', input(16))).status).toBe(200)
    expect(await refusal('process.Process/SendInput', input(33))).toEqual([
      429,
      { code: 'resource_exhausted', message: 'message is larger than 32 MiB' },
    ])
    await daemon.process.closeStdin({ process: selector })
    let count = ''
    for await (const { event } of rest) {
      if (event?.event.case === 'data' && event.event.value.output.case === 'stdout')
        count += Buffer.from(event.event.value.output.value).toString()
    }
    expect(count).toBe(`${12 * MIB}\n`)
  })

  it.each(['process.Process/SendSignal', 'filesystem.Filesystem/Stat'])('[%s] reads JSON only so deep', async (method) => {
    const deep = (depth: number) => `{"x":${'{"x":'.repeat(depth)}1${'}'.repeat(depth)}}`
    expect(await refusal(method, deep(100_000))).toEqual([
      400,
      { code: 'invalid_argument', message: 'unmarshal message: exceeded max recursion depth' },
    ])
    expect((await unary(daemon.url, method, deep(5_000))).status).not.toBe(400)
  })
})
