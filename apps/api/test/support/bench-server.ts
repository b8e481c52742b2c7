import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { createApp } from '../../src/app.ts'
import { parseApiConfig } from '../../src/config.ts'
import { createContext } from '../../src/context.ts'
import { readTextFile } from '../../src/daemon/daemon-files.ts'
import type { BuildBench } from './build-bench.ts'

interface BenchSandbox {
  readonly status: number
  /** The error message. */
  readonly message: string
  read(path: string): Promise<string | undefined>
}

export interface BenchServer extends AsyncDisposable {
  /** Creates a sandbox of the template of a build. */
  create(buildId: string, envVars: Readonly<Record<string, string>>): Promise<BenchSandbox>
}

/** Opens a control plane without background loops on the database and the engine of a bench. */
export async function openBenchServer({
  database,
  runtime,
  apiKey,
}: Pick<BuildBench, 'database' | 'runtime' | 'apiKey'>): Promise<BenchServer> {
  const ctx = await createContext(parseApiConfig({}), { database, runtime, log: silentLogger() })
  const app = await createApp(ctx)
  const headers = { 'x-api-key': apiKey }
  const created: string[] = []
  return {
    create: async (buildId, envVars) => {
      const { template_id: templateID } = await database.db
        .selectFrom('build')
        .select('template_id')
        .where('build_id', '=', buildId)
        .executeTakeFirstOrThrow()
      const answer = await app.inject({ method: 'POST', url: '/v2/sandboxes', headers, payload: { templateID, envVars } })
      const { sandboxID = '', envdAccessToken, message = '' } = answer.json<Record<string, string>>()
      if (sandboxID !== '') created.push(sandboxID)
      return {
        status: answer.statusCode,
        message,
        read: async (path) => {
          const row = await database.db.selectFrom('sandbox').selectAll().where('sandbox_id', '=', sandboxID).executeTakeFirstOrThrow()
          const endpoint = { host: row.endpoint_host ?? '', daemonPort: row.endpoint_daemon_port ?? 0 }
          return readTextFile({ endpoint, accessToken: envdAccessToken }, path, AbortSignal.timeout(60_000))
        },
      }
    },
    async [Symbol.asyncDispose]() {
      for (const id of created) await app.inject({ method: 'DELETE', url: `/sandboxes/${id}`, headers })
      await app.close()
      await ctx[Symbol.asyncDispose]()
    },
  }
}
