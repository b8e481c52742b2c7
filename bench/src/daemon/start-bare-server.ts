import { Agent } from 'node:http'
import { send, type Call } from '../http-call.ts'
import { runContainer, type Programs } from './containers.ts'
import { readCommands, untilHealthy } from './daemons.ts'

/** `bare-server.ts` in a container like those of the daemons, with the same Node. */
export interface BareServer extends AsyncDisposable {
  readonly origin: string
  send(call: Call): Promise<Buffer>
}

const PORT = 8080

export async function startBareServer(programs: Programs): Promise<BareServer> {
  await using started = new AsyncDisposableStack()
  const { node } = await readCommands(programs)
  const fill = 'mkdir -p /tmp/bare/many && cd /tmp/bare/many && seq 1 1000 | xargs touch && exec "$@"'
  const server = [...node, '/bench/bare-server.ts', '/tmp/bare', '0.0.0.0', String(PORT)]
  const container = started.use(await runContainer(programs, ['/bin/sh', '-c', fill, 'sh', ...server]))
  const agent = started.adopt(new Agent({ keepAlive: true }), (agent) => agent.destroy())
  const origin = `http://${container.address}:${PORT}`
  await untilHealthy(origin, agent)
  const all = started.move()
  return { origin, send: (call) => send(origin, agent, call), [Symbol.asyncDispose]: () => all.disposeAsync() }
}
