import type { Selectable } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { SandboxTable } from '@sandyard/db/schema/sandbox'
import { findReadyBuildById } from '../../templates/template-queries.ts'
import type { SandboxSource } from '../start/sandbox-spec.ts'
import { refOf } from './lifecycle-parts.ts'

/** What an existing sandbox runs. @throws Error when its build is gone */
export async function loadSource(db: Db, row: Selectable<SandboxTable>): Promise<SandboxSource> {
  const { sandbox_id: sandboxId, template_id: templateId, build_id: buildId, is_secure: isSecure } = row
  const build = await findReadyBuildById(db, templateId, buildId)
  if (build === undefined) throw new Error(`the build ${buildId} of the sandbox ${sandboxId} is gone`)
  const { network, allow_internet_access: allowInternetAccess, volume_mounts: volumeMounts } = row
  return { ...refOf(row), templateId, build, isSecure, network, allowInternetAccess, volumeMounts }
}
