import { adoptRestored, type Adopted } from '@sandyard/api/adopt-restored'
import { PROGRAM_SETTINGS } from '@sandyard/api/program/config'
import { readEgressGateway } from '@sandyard/api/program/egress-gateway'
import { prepareDaemon } from '@sandyard/api/program/images'
import { readWantedEgress } from '@sandyard/api/read-wanted-egress'
import type { Manifest } from '@sandyard/backup/manifest'
import { Database } from '@sandyard/db/database'
import { parseConfig } from '@sandyard/kit/config/parse-config'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { DockerRuntime } from '@sandyard/runtime-docker/docker-runtime'
import { optionsOf } from '@sandyard/runtime-docker/runtime-settings'
import type { CliParts } from '../cli-parts.ts'

const CONNECTIONS = 5

/** The last step of a restore: paused sandboxes get their files, and the database belongs to the engine from then on. */
export async function bindToEngine({ environment, output }: CliParts, databaseUrl: string, manifest: Manifest): Promise<Adopted> {
  const log = silentLogger()
  const progress = { step: (line: string) => output.say(line), detail: () => undefined }
  await using database = new Database({ url: databaseUrl, applicationName: 'sandyard-cli', log, maxConnections: CONNECTIONS })
  const config = parseConfig(PROGRAM_SETTINGS, environment)
  const egressGateway = readEgressGateway(environment)
  const daemonDist = await prepareDaemon({ config, progress })
  await using runtime = await DockerRuntime.open({
    ...optionsOf(config),
    installation: manifest.installationId,
    daemonDist,
    wantedEgress: (sandboxIds) => readWantedEgress(database.db, sandboxIds),
    // A paused sandbox with rules for names can be made only where a gateway is known.
    ...(egressGateway === undefined ? {} : { egressGateway }),
    log,
    progress,
  })
  return await adoptRestored({ database, runtime, log }, manifest.paused)
}
