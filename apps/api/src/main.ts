import { ConfigError } from '@sandyard/kit/config/parse-config'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { parseSeparateConfig } from './program/config.ts'
import { describeFailure } from './program/failures/describe-failure.ts'
import { startProgram } from './program/start-program.ts'

/** `EX_CONFIG` of sysexits.h. */
const CONFIG_EXIT_CODE = 78

/** The control plane as a program of its own: any number of them share one database and one engine. JSON lines go to standard output. */
async function main(): Promise<void> {
  const config = parseSeparateConfig(process.env)
  const log = createLogger({ name: 'sandyard-api', level: config.logLevel })
  const shutdown = new Shutdown(log)
  const stop = async (code: number): Promise<void> => {
    await shutdown.run()
    process.exit(code)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping')
      void stop(0)
    })
  }
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'uncaught exception')
    process.exit(1)
  })
  try {
    await startProgram({ config, log, shutdown, environment: process.env })
  } catch (err) {
    log.fatal({ err }, 'could not start')
    fail(err)
    await stop(process.exitCode as number)
  }
}

function fail(err: unknown): void {
  const { sentence, exitCode } = describeFailure(err, undefined)
  process.stderr.write(`sandyard-api: ${sentence}\n`)
  process.exitCode = err instanceof ConfigError ? CONFIG_EXIT_CODE : exitCode
}

await main().catch((err: unknown) => {
  fail(err)
  process.exit()
})
