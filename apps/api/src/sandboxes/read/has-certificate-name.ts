import type { Db } from '@sandyard/db/database'
import type { CertificateQuota } from './certificate-quota.ts'

const SANDBOX_NAME = /^(\d{1,5})-([a-z0-9]{1,64})$/

export interface ServedNames {
  /** The domain of sandboxes, with or without a port. */
  readonly domain: string
  /** The public URL of the control plane. */
  readonly apiUrl: string | undefined
  /** Of the names of sandboxes; those of the servers are outside of it. */
  readonly quota: CertificateQuota
}

/**
 * Whether a reverse proxy may get a certificate for a name on demand: the name of the control plane, `sandbox.<domain>`, and
 * `{port}-{sandboxID}.<domain>` while the sandbox runs or traffic resumes it. Anything else could fill the quota of a certificate authority.
 *
 * @throws AppError `resource_exhausted` when too many names of sandboxes are new
 */
export async function hasCertificateName(db: Db, { domain, apiUrl, quota }: ServedNames, name: string): Promise<boolean> {
  const wanted = name.toLowerCase()
  const base = new URL(`http://${domain}`).hostname
  if (wanted === `sandbox.${base}` || (apiUrl !== undefined && wanted === new URL(apiUrl).hostname)) return true
  if (!wanted.endsWith(`.${base}`)) return false
  const [, port, sandboxId] = SANDBOX_NAME.exec(wanted.slice(0, -base.length - 1)) ?? []
  if (sandboxId === undefined || Number(port) < 1 || Number(port) > 65_535) return false
  const row = await db
    .selectFrom('sandbox')
    .select(['state', 'auto_resume', 'pause_keep'])
    .where('sandbox_id', '=', sandboxId)
    .executeTakeFirst()
  if (row === undefined || row.state === 'starting' || row.state === 'killing') return false
  const isServed = row.state !== 'paused' || (row.auto_resume && row.pause_keep !== 'files')
  if (isServed) quota.take(wanted, sandboxId)
  return isServed
}
