import { Button } from './button.tsx';

interface MoreButtonProps {
  readonly label: string;
  readonly busy?: boolean;
  readonly onClick: () => void;
}

/** Below a list that shows its beginning alone. */
export function MoreButton({ label, busy = false, onClick }: MoreButtonProps) {
  return (
    <p class="below">
      <Button busy={busy} onClick={onClick}>
        {label}
      </Button>
    </p>
  );
}
