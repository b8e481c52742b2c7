import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { startProxy } from './support/start-proxy.ts'
import { startService } from './support/start-service.ts'

const run = promisify(execFile)

it('[proxy host form] curl reaches a port at http://{port}-{sandboxID}.localhost without any set-up of names', async () => {
  const routes = new MemoryRoutes()
  await using service = await startService((req, res) => res.end(`${req.url} for ${req.headers.host}`))
  await using proxy = await startProxy(routes)
  routes.run('i1', 9)
  const host = `${service.port}-i1.localhost:${proxy.port}`
  const { stdout } = await run('curl', ['--silent', '--show-error', '--noproxy', '*', '--max-time', '20', `http://${host}/page?q=1`])
  expect(stdout).toBe(`/page?q=1 for ${host}`)
})
