import type { Db } from '@sandyard/db/database'
import type { SandboxRef } from '@sandyard/runtime/types'
import { findReadyBuildById } from '../../templates/template-queries.ts'
import type { SandboxSource } from '../start/sandbox-spec.ts'

/** What an existing sandbox runs. @throws Error when its row or its build is gone */
export async function loadSource(db: Db, ref: SandboxRef): Promise<SandboxSource> {
  const row = await db
    .selectFrom('sandbox')
    .select(['template_id', 'build_id', 'is_secure'])
    .where('sandbox_id', '=', ref.sandboxId)
    .where('incarnation', '=', ref.incarnation)
    .executeTakeFirst()
  if (row === undefined) throw new Error(`there is no sandbox ${ref.sandboxId}`)
  const build = await findReadyBuildById(db, row.template_id, row.build_id)
  if (build === undefined) throw new Error(`the build ${row.build_id} of the sandbox ${ref.sandboxId} is gone`)
  return { ...ref, templateId: row.template_id, build, isSecure: row.is_secure }
}
