import type { Database, Tx } from '@sandyard/db/database'
import type { Secret } from '@sandyard/kit/config/secret'
import type { SandboxResources } from '@sandyard/runtime/types'
import type { Manifest } from '@sandyard/templates/manifest'
import type { BuildPlan } from '../builds/build-plan.ts'
import { enqueueBuild } from '../builds/queue/enqueue-build.ts'
import { insertBuild } from '../builds/registration/insert-build.ts'
import { appendEvent } from '../events/event-log.ts'
import { teamTransaction } from '../teams/team-transaction.ts'
import { DEFAULT_TAG } from '../templates/template-reference.ts'
import { countBuild, insertTemplate } from '../templates/template-writes.ts'
import { msUntilRetry } from './back-off.ts'
import { isUnfinished, readReadyMadeState, type ReadyMadeState } from './ready-made-state.ts'

export interface WantedBuild {
  readonly manifest: Pick<Manifest, 'name' | 'version'>
  readonly digest: string
  /** The owner of the templates of the server. */
  readonly teamId: string
  readonly plan: BuildPlan
  readonly resources: SandboxResources
  /** A person asks, after a failure perhaps with a repaired folder: then nothing has to be waited for. */
  readonly isAskedFor: boolean
}

/** Whether this server has another content than the installed one. A server with an older release leaves what a newer one has built. */
export function isNewer({ manifest, digest }: Pick<WantedBuild, 'manifest' | 'digest'>, { installed }: ReadyMadeState): boolean {
  if (installed === undefined) return true
  return manifest.version > installed.version || (manifest.version === installed.version && digest !== installed.digest)
}

/**
 * Registers and queues a build of a ready-made template, which is public under its bare name and which no team can delete. Calls of all
 * servers are serialised here: it does nothing while a build is unfinished, when the same content is installed or has just failed, and when
 * an administrator gave the name to another template.
 */
export async function registerReadyMade(database: Database, tokenSeed: Secret, wanted: WantedBuild): Promise<void> {
  // The name has no row to lock yet.
  await teamTransaction(database, { teamId: wanted.teamId, isUrgent: true }, async ({ tx }) => {
    const state = await readReadyMadeState(tx, wanted.manifest.name)
    if (!isWanted(wanted, state)) return
    const templateId = state.templateId ?? (await insertNamed(tx, wanted))
    const buildId = await insertReadyMade(tx, templateId, wanted)
    const { teamId, plan } = wanted
    await enqueueBuild(tx, tokenSeed, { buildId, teamId, plan, builderVersion: 'v2.1.0' })
  })
}

function isWanted(wanted: WantedBuild, state: ReadyMadeState): boolean {
  const { newest, isTaken } = state
  if (isTaken || (newest !== undefined && isUnfinished(newest)) || !isNewer(wanted, state)) return false
  return (wanted.isAskedFor && newest?.digest !== wanted.digest) || msUntilRetry(state) === 0
}

async function insertNamed(tx: Tx, { teamId, manifest }: WantedBuild): Promise<string> {
  const templateId = await insertTemplate(tx, { teamId, source: 'template', userId: undefined, isPublic: true })
  await tx.updateTable('template').set({ is_default: true }).where('template_id', '=', templateId).execute()
  await tx.insertInto('template_alias').values({ alias: manifest.name, namespace: null, template_id: templateId }).execute()
  return templateId
}

async function insertReadyMade(tx: Tx, templateId: string, { manifest, digest, resources, teamId }: WantedBuild): Promise<string> {
  const buildId = await insertBuild(tx, { templateId, resources, tags: [DEFAULT_TAG] })
  const { name, version } = manifest
  await tx.insertInto('ready_made_build').values({ build_id: buildId, name, version, digest }).execute()
  await countBuild(tx, templateId)
  await appendEvent(tx, { teamId, kind: 'template.build_registered', subject: templateId, data: { buildId } })
  return buildId
}
