import { ENGINE_SETTING } from '@sandyard/db/engine-setting'
import { BACKUP_SNAPSHOT_AGE_MS, isBackupSnapshot } from '@sandyard/runtime/backup-snapshot'
import { findEngineId } from '@sandyard/runtime-docker/engine/engine-id'
import { LABEL, REMOVED_REPOSITORY } from '@sandyard/runtime-docker/labels'
import { sql } from 'kysely'
import { ok, warn, worstOf, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'
import { findUnnamed, listOwnImages, requireInstallation, type OwnImage } from '../facts/own-images.ts'

/** A row is written before its container, and a container ends before its row: younger differences are changes in flight. */
const SETTLED_MS = 120_000
const MAX_NAMES = 5
const ENGINE_TIMEOUT_MS = 15_000
const OLD_VOLUME_MS = 2 * 24 * 3_600_000

interface Volume {
  readonly Name: string
  readonly Labels?: Readonly<Record<string, string>> | null
  readonly CreatedAt?: string
}

export const orphans: Check = {
  id: 'R1',
  title: 'Orphans',
  checks:
    'containers, networks, volumes and images with our labels against rows, both ways: differences that are older than two minutes (images: than the longest build) warn; other installations on the engine are named',
  why: 'An orphan takes memory and disk that no limit counts; a row without a container is a sandbox that clients cannot reach.',
  todo: 'The server repairs both by itself every minute: when they stay, read its log. "sandyard gc" removes what belongs to this installation.',
  async run(facts): Promise<Finding> {
    const installation = await requireInstallation(facts)
    const others = await findOthers(facts, installation)
    const named = others.length === 0 ? 'no other installation on the engine' : `other installations on the engine: ${others.join(', ')}`
    const findings = [
      await compareSandboxes(facts, installation),
      await checkNetworks(facts, installation),
      await checkVolumes(facts, installation),
      await checkImages(facts, installation),
    ]
    const worst = worstOf(findings, `containers and rows agree; ${named}`)
    return worst.level === 'ok' ? worst : { ...worst, found: `${worst.found}; ${named}` }
  },
}

async function compareSandboxes(facts: Facts, installation: string): Promise<Finding> {
  const before = facts.machine.now() - SETTLED_MS
  const containers = (await facts.engine.containers()).filter(
    ({ Labels }) => Labels[LABEL.installation] === installation && Labels[LABEL.role] === 'sandbox',
  )
  const { rows } = await facts.database.read((db) =>
    sql<{ id: string; is_settled: boolean }>`
      select sandbox_id as id, state in ('running', 'paused') and state_changed_at < now() - interval '2 minutes' as is_settled from sandbox
      union all select sandbox_id, false from build_job where sandbox_id is not null`.execute(db),
  )
  const known = new Set(rows.map(({ id }) => id))
  const present = new Set(containers.map(({ Labels }) => Labels[LABEL.sandboxId]))
  const stray = containers.filter(({ Labels, Created }) => !known.has(Labels[LABEL.sandboxId] ?? '') && Created * 1000 < before)
  const missing = rows.filter(({ id, is_settled }) => is_settled && !present.has(id))
  return worstOf(
    [
      stray.length > 0
        ? warn(
            `containers without a row: ${list(stray.map(({ Names, Id }) => Names[0]?.slice(1) ?? Id))}`,
            (await isOwnEngine(facts))
              ? { commands: stray.slice(0, MAX_NAMES).map(({ Id }) => `docker rm -f ${Id.slice(0, 12)}`) }
              : {
                  todo: 'The database belongs to another engine, or no server has used it with this one: set DOCKER_HOST or DATABASE_URL.',
                },
          )
        : undefined,
      missing.length > 0 ? warn(`rows without a container: ${list(missing.map(({ id }) => id))}`) : undefined,
    ],
    'containers and rows agree',
  )
}

/** On another engine than that of the database every container looks like an orphan. */
async function isOwnEngine({ database, engine }: Facts): Promise<boolean> {
  const recorded = await database.setting(ENGINE_SETTING)
  const found = await engine.read('its id', (docker) => findEngineId(docker, AbortSignal.timeout(ENGINE_TIMEOUT_MS)))
  return recorded !== undefined && recorded === found
}

async function checkNetworks({ engine }: Facts, installation: string): Promise<Finding> {
  const own = (await engine.networks()).filter(({ Labels }) => Labels?.[LABEL.installation] === installation)
  return own.length > 1 ? warn(`${own.length} networks of this installation: ${list(own.map(({ Name }) => Name))}`) : ok('networks')
}

/** The server removes volumes of former daemons an hour after their last use. */
async function checkVolumes({ engine, machine }: Facts, installation: string): Promise<Finding> {
  const own = ((await engine.volumes()) as Volume[]).filter(
    ({ Labels }) => Labels?.[LABEL.installation] === installation && Labels[LABEL.role] === 'daemon-volume',
  )
  const byAge = own.toSorted((left, right) => Date.parse(right.CreatedAt ?? '') - Date.parse(left.CreatedAt ?? ''))
  const used = new Set((await engine.containers()).flatMap(({ Mounts }) => Mounts.map(({ Name }) => Name)))
  const before = machine.now() - OLD_VOLUME_MS
  const old = byAge.slice(1).filter(({ Name, CreatedAt }) => !used.has(Name) && Date.parse(CreatedAt ?? '') < before)
  return old.length > 0 ? warn(`volumes of former daemons that no sandbox uses: ${list(old.map(({ Name }) => Name))}`) : ok('volumes')
}

async function checkImages(facts: Facts, installation: string): Promise<Finding> {
  const before = facts.machine.now() - facts.settings.buildTimeout - SETTLED_MS
  const inUse = new Set((await facts.engine.containers()).map(({ ImageID }) => ImageID))
  const old = (await listOwnImages(facts, installation)).filter(({ createdAtMs }) => createdAtMs < before)
  // A removed image has its name until the last sandbox that runs from it ends; a backup has its snapshots until it ends.
  const isNeeded = ({ id, name, createdAtMs }: OwnImage): boolean =>
    (name.startsWith(REMOVED_REPOSITORY) && inUse.has(id)) ||
    (isBackupSnapshot(name) && createdAtMs > facts.machine.now() - BACKUP_SNAPSHOT_AGE_MS)
  const names = old.filter((image) => !isNeeded(image)).map(({ name }) => name)
  const unnamed = [...(await findUnnamed(facts, names))]
  return unnamed.length > 0 ? warn(`images without a row: ${list(unnamed)}`) : ok('images')
}

async function findOthers({ engine }: Facts, installation: string): Promise<string[]> {
  const labelled = [...(await engine.containers()), ...(await engine.networks())]
  const found = labelled.flatMap(({ Labels }) => Labels?.[LABEL.installation] ?? [])
  return [...new Set(found)].filter((name) => name !== installation).sort()
}

function list(all: readonly string[]): string {
  return all.length > MAX_NAMES ? `${all.slice(0, MAX_NAMES).join(', ')} and ${all.length - MAX_NAMES} more` : all.join(', ')
}
