import type { Registry } from 'prom-client'
import type { DatabaseUrls } from '@sandyard/db/database'
import { StartFailure } from '@sandyard/api/program/failures/start-failure'
import { explainListenFailure, type Listening } from '@sandyard/api/program/listening'
import type { Environment } from '@sandyard/kit/config/parse-config'
import { childEnvironment } from '../process/child-environment.ts'
import type { StartParts } from '../start-all.ts'
import { ChildEnded, type Program } from './child-program.ts'
import { ChildSupervisor } from './child-supervisor.ts'

const MIB = 1024 ** 2
/** Time in addition to the drain: for the child's resets, its database connections and the end of the process. */
const GRACE_MARGIN_MS = 8000

export interface ChildPlan {
  readonly program: Program
  readonly heapBytes: number
  readonly drainMs: number
  /** In addition to the environment of children. */
  readonly variables?: Environment
  /** Explains a failure to listen. */
  readonly listening: Listening
  readonly database: DatabaseUrls
  readonly registry: Registry
}

/** Starts a program in its own process, so that tenant traffic can neither end nor stall the control plane. */
export async function startChild(parts: StartParts, plan: ChildPlan): Promise<ChildSupervisor> {
  const { environment, log, logChunk, shutdown } = parts
  const { program, heapBytes, drainMs, variables, listening, database, registry } = plan
  const graceMs = drainMs + GRACE_MARGIN_MS
  try {
    const child = await ChildSupervisor.start({
      program,
      environment: {
        ...childEnvironment(environment),
        ...variables,
        DATABASE_URL: database.url,
        DATABASE_DIRECT_URL: database.directUrl,
      },
      heapMib: Math.floor(heapBytes / MIB),
      onLog: logChunk,
      log: log.child({ part: `standalone.${program.name}` }),
      registry,
      graceMs,
    })
    shutdown.add(program.name, () => child[Symbol.asyncDispose](), { timeoutMs: graceMs + GRACE_MARGIN_MS })
    return child
  } catch (err) {
    const explained = explainListenFailure(err, listening)
    if (explained !== err || !(err instanceof ChildEnded)) throw explained
    throw new StartFailure(`The start of ${program.title} failed: ${err.message}`, { cause: err })
  }
}
