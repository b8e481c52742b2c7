import { countEach, runMany, scaled, type Attack } from './attack.ts'
import { callApi } from './http-call.ts'

const MIB = 1024 ** 2
/** One megabyte below the cap of a body. */
const BODY_BYTES = 15 * MIB
const TIMES = 4
const WIDTH = 4

/** Bodies just below the cap that are deeply nested, wide or full of escapes, several at once. */
export const jsonBodies: Attack = {
  name: 'deep and wide JSON',
  async run(target, signal) {
    const bytes = scaled(target, BODY_BYTES)
    const times = scaled(target, TIMES)
    const observed: string[] = []
    const faults: string[] = []
    for (const [name, body] of Object.entries(bodiesOf(bytes))) {
      const send = async (): Promise<string> => (await callApi(target, 'POST /v2/sandboxes', body, signal)).status
      const statuses = await runMany({ count: times, width: WIDTH }, send, signal)
      observed.push(`${name} ${countEach(statuses)}`)
      const wrong = statuses.filter((status) => !/^4\d\d$/.test(status) && status !== '503')
      if (wrong.length > 0) faults.push(`${name} got ${countEach(wrong)}`)
    }
    return {
      sent: `${times} bodies of ${(bytes / MIB).toFixed(1)} MiB of each kind, ${WIDTH} at a time`,
      observed: observed.join('; '),
      faults,
    }
  },
}

/** No request can be served: none names an existing template. */
function bodiesOf(bytes: number): Readonly<Record<string, string>> {
  const wide = (entry: (n: number) => string, entryBytes: number): string =>
    Array.from({ length: Math.ceil(bytes / entryBytes) }, (_, n) => entry(n)).join(',')
  return {
    'nested arrays': `{"templateID":"none","mcp":${'['.repeat(bytes)}`,
    'nested objects': `{"templateID":"none","mcp":${'{"a":'.repeat(bytes / 5)}`,
    'many keys': `{"templateID":"none",${wide((n) => `"k${n}":0`, 11)}}`,
    'many values': `{"templateID":"none","mcp":[${wide(() => '{}', 3)}]}`,
    'the same key': `{"templateID":"none",${wide(() => '"a":0', 6)}}`,
    escapes: `{"templateID":"${String.raw`\u0061`.repeat(bytes / 6)}"}`,
    digits: `{"templateID":"none","timeout":1${'0'.repeat(bytes)}}`,
    'not UTF-8': `{"templateID":"none","metadata":{"a":"${String.raw`\ud800`.repeat(bytes / 6)}"}}`,
  }
}
