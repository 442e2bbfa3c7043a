/** The panel's sign: a lamp in a tower of three floors, for what is kept lit over night. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path
        class="mark-tower"
        d="M11 29l1.5-17h7L21 29zM10 29h12v2H10zM12 10h8v2h-8zM13 5.500l3-3.500 3 3.500V10h-6z"
      />
      <path class="mark-light" d="M20.500 6.200L31 3.500v8l-10.500-2.700zM11.500 6.200L1 3.500v8l10.500-2.700z" />
    </svg>
  );
}
