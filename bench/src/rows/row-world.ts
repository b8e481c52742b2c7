import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createWorld, type Server, type World } from '../../../apps/api/test/support/control-plane.ts'
import { fillPast, fillSandboxes } from './fill-rows.ts'

const SETTINGS = { SANDYARD_MAX_SANDBOXES: '100000', SANDYARD_METRICS_MAX_SANDBOXES: '10000' }

/** A control plane whose database and fake engine have a number of running sandboxes of one team. Its loops run only on request. */
export interface RowWorld extends AsyncDisposable {
  readonly rows: number
  readonly world: World
  readonly api: Server
  /** Puts the sandboxes that have ended back, as running ones. */
  refill(): Promise<void>
}

/** @param daemonPort - of `startDaemons` */
export async function openRowWorld(rows: number, daemonPort: number): Promise<RowWorld> {
  await using opened = new AsyncDisposableStack()
  const world = opened.use(await createWorld())
  const api = await world.startServer({ env: SETTINGS })
  const refill = (): Promise<void> => fillSandboxes(world, rows, daemonPort)
  await refill()
  await fillPast(world, rows)
  const all = opened.move()
  return { rows, world, api, refill, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** The process that answers for the daemons of all worlds. */
export async function startDaemons(): Promise<{ readonly port: number } & Disposable> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'daemon-process.ts')], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { port: Number(line.toString()), [Symbol.dispose]: () => child.kill() }
}
