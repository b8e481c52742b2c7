import type { Me } from '@sandyard/dashboard-contract/session'
import { isPageOutdated, liveTrouble } from '../live/live-state.ts'
import { frameTexts } from '../texts/frame-texts.ts'

/** What concerns every screen. */
export function Banners({ session: { team } }: { readonly session: Me }) {
  const trouble = liveTrouble.value
  return (
    <>
      {trouble !== undefined && (
        <p class="notice notice-warn banner" role="status">
          {trouble === 'noUpgrade' ? frameTexts.noUpgrade : trouble === 'tooMany' ? frameTexts.tooManyTabs : frameTexts.cannotReach}
        </p>
      )}
      {isPageOutdated.value && (
        <div class="notice banner" role="status">
          <p class="grow">{frameTexts.newVersion}</p>
          <button type="button" class="button button-small" onClick={() => location.reload()}>
            {frameTexts.reload}
          </button>
        </div>
      )}
      {team === null && <p class="notice notice-warn banner">{frameTexts.noTeam}</p>}
      {team?.isBlocked === true && <p class="notice notice-warn banner">{frameTexts.blocked(team.blockedReason)}</p>}
    </>
  )
}
