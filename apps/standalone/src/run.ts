import { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { Environment } from '@sandyard/kit/config/parse-config'
import { readStandaloneConfig } from './config.ts'
import { openDataDirectory } from '@sandyard/api/program/data/data-directory'
import { lockDirectory } from '@sandyard/api/program/data/directory-lock'
import { describeFailure } from '@sandyard/api/program/failures/describe-failure'
import { Interrupted, listenForInterruption, type Interruption } from './interruption.ts'
import { openLog, type ServerLog } from './logging/open-log.ts'
import { startAll } from './start-all.ts'
import { Terminal } from './terminal/terminal.ts'

const INTERRUPTED_EXIT_CODE = 130

/** Runs the server until a signal asks it to end, or until it cannot continue. Everything that a person must know is on `output`. */
export async function run(environment: Environment, output: NodeJS.WriteStream): Promise<number> {
  // The reader of the output may close it; the server continues.
  output.on('error', () => undefined)
  const terminal = new Terminal(output)
  const interruption = listenForInterruption()
  let serverLog: ServerLog | undefined
  try {
    const config = readStandaloneConfig(environment)
    const directory = openDataDirectory(config.dataDir)
    using _lock = lockDirectory(directory.lockFile)
    serverLog = openLog(config, directory)
    const { log, logChunk } = serverLog
    process.on('uncaughtException', (err) => {
      log.fatal({ err }, 'uncaught exception')
      process.stderr.write(`sandyard: ${describeFailure(err, serverLog?.file).sentence}\n`)
      process.exit(1)
    })
    await using shutdown = new Shutdown(log)
    const { failed } = await startAll({ config, directory, log, logChunk, progress: terminal, interruption, shutdown, environment })
    await untilAsked(interruption, failed)
    terminal.say('\nStopping ... (repeat to stop at once)')
    await shutdown.run()
    terminal.say('Stopped. Sandboxes that have not expired keep running; the next start finds them.')
    return 0
  } catch (err) {
    if (err instanceof Interrupted) {
      terminal.say('Stopped before it was ready.')
      return INTERRUPTED_EXIT_CODE
    }
    serverLog?.log.fatal({ err }, 'could not continue')
    const { sentence, exitCode } = describeFailure(err, serverLog?.file)
    terminal.endPassingLine()
    process.stderr.write(`sandyard: ${sentence}\n`)
    return exitCode
  }
}

/** @throws the rejection of `failed`: a required part of the server has ended */
async function untilAsked({ asked }: Interruption, failed: Promise<never>): Promise<void> {
  await Promise.race([asked, failed])
}
