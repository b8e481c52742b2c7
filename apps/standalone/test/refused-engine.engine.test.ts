import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Database } from '@sandyard/db/database'
import { migrate } from '@sandyard/db/migrate'
import { randomId } from '@sandyard/kit/ids/ids'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { LABEL } from '@sandyard/runtime-docker/labels'
import { removeInstallations } from '@sandyard/runtime-docker/remove-installation'
import { openDataDirectory } from '@sandyard/api/program/data/data-directory'
import { startEmbeddedPostgres } from '../src/postgres/embedded-postgres.ts'
import { RunningServer } from './running-server.ts'

/** Writes the database of an installation whose sandboxes are on another engine. */
async function bindElsewhere(dataDir: string, installation: string): Promise<void> {
  const log = silentLogger()
  await using postgres = await startEmbeddedPostgres({ directory: openDataDirectory(dataDir), port: 0, say: () => undefined })
  await migrate({ url: postgres.url, log })
  await using database = new Database({ url: postgres.url, applicationName: 'test', log, maxConnections: 1 })
  const rows = [
    { name: 'installation_id', value: installation },
    { name: 'engine_id', value: randomId(32) },
  ]
  await database.db.insertInto('server_setting').values(rows).execute()
}

it('leaves no network and no container on an engine that the database does not belong to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'standalone-refused-'))
  const dataDir = join(folder, 'data')
  const installation = randomId(20)
  await bindElsewhere(dataDir, installation)
  const docker = await connectEngine(process.env['DOCKER_HOST'])
  onTestFinished(() => removeInstallations(docker, [installation]))
  const server = new RunningServer(dataDir, process.env)
  await expect(server.ready()).rejects.toThrow(/are on another Docker engine/)
  expect(await server.end('SIGTERM')).toBe(1)
  rmSync(folder, { recursive: true, force: true })

  const filters = JSON.stringify({ label: [`${LABEL.installation}=${installation}`] })
  expect(await docker.listNetworks({ filters })).toEqual([])
  expect(await docker.listContainers({ all: true, filters })).toEqual([])
})
