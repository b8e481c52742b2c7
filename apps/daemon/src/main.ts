import { exit, stderr, stdout } from 'node:process'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { FlagError, parseFlags } from './flags.ts'
import { closeServer } from './http/close-server.ts'
import { prepareKeyCheck } from './init/instance-key.ts'
import { writeMarkerFile, writeResolvers } from './init/run-files.ts'
import { createServer } from './server.ts'
import { DAEMON_VERSION } from './version.ts'

/** How long the last bytes of streams may take to leave when the daemon ends; the engine waits longer. */
const FAREWELL_MS = 1000

async function main(args: readonly string[]): Promise<void> {
  const flags = parseFlags(args)
  if (flags.version || flags.commit) {
    stdout.write(`${flags.version ? DAEMON_VERSION : ''}\n`)
    return
  }
  process.umask(0o022)
  const config = readConfig(process.env)
  const context = createContext(config)
  const server = createServer(context)

  // Whatever went wrong in one request, the processes of all the others live on with the daemon.
  process.on('uncaughtException', (err) => context.log.error({ err }, 'unexpected failure'))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      context.shutDown()
      void closeServer(server, FAREWELL_MS).then(() => exit(0))
    })
  }
  await server.listen({ host: flags.host, port: flags.port })
  try {
    writeResolvers(config, config.resolvers)
    writeMarkerFile(config)
  } catch (err) {
    context.log.warn({ err }, 'run files could not be written')
  }
  if (config.instanceFile !== undefined) prepareKeyCheck(config.instanceFile)
}

// The bundle is CommonJS, which starts faster and knows no top-level await.
main(process.argv.slice(2)).catch((error: unknown) => {
  stderr.write(`sandyard daemon: ${error instanceof Error ? error.message : String(error)}\n`)
  exit(error instanceof FlagError ? 2 : 1)
})
