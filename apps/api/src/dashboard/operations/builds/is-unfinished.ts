import { UNFINISHED_BUILD_STATUSES, type BuildStatus } from '@sandyard/db/schema/build'

export function isUnfinished(status: BuildStatus): boolean {
  return (UNFINISHED_BUILD_STATUSES as readonly BuildStatus[]).includes(status)
}
