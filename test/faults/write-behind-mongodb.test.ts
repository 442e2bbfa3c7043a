import { describeBufferedFaults } from './write-behind-server-faults.ts';

describeBufferedFaults('mongodb');
