import { sql, type RawBuilder } from 'kysely'

/** A time as text that sorts as the time does: the key of a page. It is exact for times with milliseconds, and for those with microseconds. */
export function sortableTime(time: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`
}

/** The name of a template with its namespace, or its id. @param templateId - as SQL */
export function templateName(templateId: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`coalesce((
    select case when namespace is null then alias else namespace || '/' || alias end
    from template_alias where template_alias.template_id = ${templateId} order by created_at, alias limit 1
  ), ${templateId})`
}

/** `ilike` pattern of texts that contain this one. */
export function containing(text: string): string {
  return `%${text.replaceAll('\0', '').replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
}
