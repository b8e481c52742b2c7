import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export interface BareRelay extends AsyncDisposable {
  readonly origin: string
}

/** `bare-relay.ts` in front of a server. */
export async function startBareRelay(origin: string): Promise<BareRelay> {
  const { hostname, port } = new URL(origin)
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-relay.ts'), hostname, port], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [own] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    origin: `http://127.0.0.1:${own.toString().trim()}`,
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}
