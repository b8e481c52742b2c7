import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { bundleMcpGateway } from '../build/bundle.ts'

interface Ended {
  readonly code: number
  readonly stderr: string
}

/** The built command in a folder of its own, with tiny servers that count as installed. */
export interface GatewayCommand extends AsyncDisposable {
  readonly url: URL
  readonly folder: string
  run(words: readonly string[], token?: string): Promise<Ended>
  connect(token: string): Promise<Client>
}

/** The configuration of a tiny server that starts when the file exists. */
export function lateServer(name: string, file: string): Record<string, object> {
  const program = join(import.meta.dirname, 'tiny-server.ts')
  const runCmd = `until [ -e ${file} ]; do sleep 0.05; done; exec ${process.execPath} ${program} ${name}`
  return { [`github/tiny/${name}`]: { runCmd, envs: {} } }
}

/** The configuration of tiny servers by these names. */
export function tinyServers(...names: string[]): Record<string, object> {
  const program = join(import.meta.dirname, 'tiny-server.ts')
  return Object.fromEntries(
    names.map((name) => [`github/tiny/${name}`, { runCmd: `exec ${process.execPath} ${program} ${name}`, envs: { OWN: name } }]),
  )
}

export async function prepareGateway(): Promise<GatewayCommand> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-gateway-test-'))
  const bundle = join(folder, 'gateway.mjs')
  await bundleMcpGateway(bundle)
  for (const name of ['one', 'two', 'broken', 'late']) {
    await mkdir(join(folder, 'servers/github/tiny', name), { recursive: true })
    await writeFile(join(folder, 'servers/github/tiny', name, '.installed'), '')
  }
  const port = await findFreePort()
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  const settings = {
    MCP_GATEWAY_PORT: String(port),
    MCP_GATEWAY_DIRECTORY: join(folder, 'state'),
    MCP_GATEWAY_SERVERS: join(folder, 'servers'),
    MCP_GATEWAY_USER: 'root',
  }
  return {
    url,
    folder,
    run(words, token) {
      // oxlint-disable-next-line node/no-process-env -- what children get is under test
      const env = { ...process.env, ...settings, ...(token === undefined ? {} : { GATEWAY_ACCESS_TOKEN: token }) }
      const { promise, resolve } = Promise.withResolvers<Ended>()
      execFile(process.execPath, [bundle, ...words], { env, timeout: 60_000 }, (err, _stdout, stderr) =>
        resolve({ code: err === null ? 0 : Number(err.code ?? -1), stderr }),
      )
      return promise
    },
    async connect(token) {
      const client = new Client({ name: 'test', version: '1.0.0' })
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${token}` } } }))
      return client
    },
    async [Symbol.asyncDispose]() {
      const pid = Number(await readFile(join(folder, 'state/gateway.pid'), 'utf8').catch(() => '0'))
      try {
        if (pid > 1) process.kill(pid, 'SIGTERM')
      } catch {
        // It has ended.
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}
