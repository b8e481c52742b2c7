import { Type, type Static } from 'typebox'
import type { HostCheck } from '@sandyard/dashboard-contract/host'
import { oneOf } from '@sandyard/dashboard-contract/request-fields'
import { AppError } from '@sandyard/kit/errors/app-error'
import { validatorOf } from '../../http/validators.ts'

/** The document of `sandyard doctor --json` (docs/doctor.md). */
const DoctorReport = Type.Object({
  checks: Type.Array(
    Type.Object({
      id: Type.String({ pattern: '^[A-Z][0-9]{1,2}$' }),
      title: Type.String(),
      level: oneOf(['ok', 'warn', 'fail', 'skipped']),
      found: Type.String(),
      why: Type.String(),
      todo: Type.Union([Type.String(), Type.Null()]),
      commands: Type.Array(Type.String(), { maxItems: 1000 }),
    }),
    { maxItems: 1000 },
  ),
})

/** @throws AppError `bad_gateway` for a text that is none */
export function readDoctorReport(text: string): readonly Omit<HostCheck, 'dismissedUntil'>[] {
  const { checks } = parse(text)
  return checks.map(({ id, title, level, found, why, todo, commands }) => ({
    id,
    title: storable(title),
    level,
    found: storable(found),
    why: storable(why),
    todo: todo === null ? null : storable(todo),
    commands: commands.map(storable),
  }))
}

function parse(text: string): Static<typeof DoctorReport> {
  let report: unknown
  try {
    report = JSON.parse(text)
  } catch {
    report = undefined
  }
  if (!validatorOf(DoctorReport, 'body')(report))
    throw new AppError('bad_gateway', 'The checks have no report that this server understands')
  return report as Static<typeof DoctorReport>
}

/** The database keeps no NUL. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}
