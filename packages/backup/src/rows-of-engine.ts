import type { Client } from 'pg'
import type { SandboxRef } from '@sandyard/runtime/types'

/** The images without which a sandbox, a template, a tag or a snapshot of the rows could not be used. Caches of build steps are not among them. */
export async function listNeededImages(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ image: string }>(`
    select distinct image from build join template using (template_id)
    where image is not null and status in ('uploaded', 'success', 'ready') and (
      template.deleted_at is null
      or exists (select from sandbox where sandbox.build_id = build.build_id)
      or exists (select from build_job where build_job.plan -> 'source' ->> 'buildId' = build.build_id::text)
    )
    order by image`)
  return rows.map(({ image }) => image)
}

export async function listPaused(client: Client): Promise<SandboxRef[]> {
  const { rows } = await client.query<{ sandbox_id: string; incarnation: number }>(
    `select sandbox_id, incarnation from sandbox where state = 'paused' order by sandbox_id`,
  )
  return rows.map(({ sandbox_id: sandboxId, incarnation }) => ({ sandboxId, incarnation }))
}

/** The paths of the archives of COPY steps, in the folder of uploads. */
export async function listUploads(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ path: string }>(
    `select team_id || '/' || hash || '.tar' as path from layer_upload order by team_id, hash`,
  )
  return rows.map(({ path }) => path)
}

export async function readSetting(client: Client, name: string): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>('select value from server_setting where name = $1', [name])
  return rows[0]?.value
}
