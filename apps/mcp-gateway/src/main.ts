import { ConfigError } from '@sandyard/kit/config/parse-config'
import { findSource } from './catalog/to-servers.ts'
import { readConfig } from './config.ts'
import { installSource } from './install/install-server.ts'
import { serve } from './commands/serve.ts'
import { start } from './commands/start.ts'

const USAGE = 'usage: mcp-gateway --config <json> | mcp-gateway pull <server>...'

/** The command of the template `mcp-gateway`. */
async function main([command, ...words]: readonly string[]): Promise<void> {
  const environment = process.env
  const config = readConfig(environment)
  const user = { name: config.user, home: config.user === 'root' ? '/root' : `/home/${config.user}` }
  if (command === '--config' && words.length === 1) {
    await start({ config, json: words[0] ?? '', environment })
    process.exit(0)
  } else if (command === 'pull' && words.length > 0) {
    const sources = words.map((name) => ({ name, source: findSource(name) }))
    for (const { name, source } of sources) {
      await installSource(name, source, { directory: config.serversDirectory, user, environment })
      process.stdout.write(`${name} is installed\n`)
    }
  } else if (command === 'serve' && words.length === 0) {
    await serve({ config, user, environment })
  } else {
    throw new Error(USAGE)
  }
}

await main(process.argv.slice(2)).catch((err: unknown) => {
  process.stderr.write(`mcp-gateway: ${err instanceof Error ? err.message : String(err)}\n`)
  process.exit(err instanceof ConfigError ? 78 : 1)
})
