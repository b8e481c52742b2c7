import { useLocation } from 'preact-iso/router'
import type { Me } from '@sandyard/dashboard-contract/session'
import { liveState } from '../live/live-state.ts'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { runAction } from '../parts/run-action.ts'
import { logOut, switchTeam } from '../session/session.ts'
import { frameTexts } from '../texts/frame-texts.ts'
import { isPaletteOpen } from './palette-state.ts'
import { paths } from './paths.ts'
import { theme, THEMES } from './theme.ts'

const THEME_ICONS = { system: 'system', light: 'sun', dark: 'moon' } as const

export function Header({ session }: { readonly session: Me }) {
  return (
    <header class="header">
      <a class="brand" href={paths.overview}>
        <svg class="brand-mark" viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 1.500l7.5 4.250v8.500L10 18.500l-7.5-4.250v-8.500z" />
          <path d="M2.8 12.200c2.4-2 4.8-2 7.2 0s4.8 2 7.2 0" />
        </svg>
        {frameTexts.title}
      </a>
      <TeamMenu session={session} />
      <button type="button" class="button palette-button" onClick={() => (isPaletteOpen.value = true)}>
        <Icon name="search" />
        <span>{frameTexts.palette}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <span class="live" data-state={liveState.value} role="status">
        {frameTexts.live[liveState.value]}
      </span>
      <Menu label={frameTexts.theme.label} buttonClass="button button-icon button-quiet" button={<Icon name={THEME_ICONS[theme.value]} />}>
        {THEMES.map((name) => (
          <button key={name} type="button" aria-pressed={theme.value === name} onClick={() => (theme.value = name)}>
            <Icon name={THEME_ICONS[name]} />
            <span class="grow">{frameTexts.theme[name]}</span>
            {theme.value === name && <Icon name="check" />}
          </button>
        ))}
      </Menu>
      <button
        type="button"
        class="button button-icon button-quiet"
        aria-label={frameTexts.signOut}
        title={frameTexts.signOut}
        onClick={() => void runAction({ label: frameTexts.signOut, isRepeatable: true, run: logOut })}
      >
        <Icon name="exit" />
      </button>
    </header>
  )
}

/** Developers have one team. Operators choose; everything that is shown is of that team. */
function TeamMenu({ session: { role, team, teams, key } }: { readonly session: Me }) {
  const { route } = useLocation()
  const name = team?.name ?? '–'
  if (role === 'developer')
    return (
      <span class="team" title={key?.name}>
        <span class="muted">{frameTexts.team}</span> <b>{name}</b>
      </span>
    )
  return (
    <Menu
      label={`${frameTexts.team}: ${name}`}
      buttonClass="button button-quiet team"
      button={
        <>
          <span class="muted">{frameTexts.team}</span> <b class="truncate">{name}</b> <Icon name="down" />
        </>
      }
    >
      {teams.map(({ teamId, name, slug }) => (
        <button
          key={teamId}
          type="button"
          onClick={() =>
            void runAction({ label: frameTexts.team, isRepeatable: true, run: () => switchTeam(teamId).then(() => route(paths.overview)) })
          }
        >
          <span class="grow">
            {name} {slug !== name && <span class="muted small">{slug}</span>}
          </span>
          {teamId === team?.teamId && <Icon name="check" />}
        </button>
      ))}
    </Menu>
  )
}
