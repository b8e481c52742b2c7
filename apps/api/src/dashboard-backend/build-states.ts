import { DASHBOARD_BUILD_STATUSES, type DashboardBuildStatus } from '@sandyard/api-contract/dashboard-backend/builds'
import type { BuildRow, BuildState } from '@sandyard/dashboard-contract/templates'
import { parseChoices } from '../text/parse-choices.ts'

const STATUS: Readonly<Record<BuildState, DashboardBuildStatus>> = {
  waiting: 'building',
  building: 'building',
  ready: 'success',
  failed: 'failed',
}

/** @param text - statuses with commas @returns states with commas @throws AppError `invalid_argument` */
export function toStates(text: string): string {
  const wanted = parseChoices(text, 'status', DASHBOARD_BUILD_STATUSES)
  return Object.entries(STATUS)
    .flatMap(([state, status]) => (wanted.includes(status) ? [state] : []))
    .join(',')
}

/** What all shapes of a build have in common. */
export function toBuildStatus({ status, reason, finishedAt }: Pick<BuildRow, 'status' | 'reason' | 'finishedAt'>) {
  return { status: STATUS[status], statusMessage: reason?.message ?? null, finishedAt }
}
